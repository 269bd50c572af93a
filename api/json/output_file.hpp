// OutputFile: a file that a person named for output, whatever stands under that name.

#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "evershard/protocol/result.hpp"

namespace evershard {

/// A regular file, or a name that is free, appears under its name only when it is whole: until then it is NAME.part
/// beside it, which is taken away where it is not kept. A symbolic link stays and is followed. A file that is replaced
/// leaves its permissions to the new one.
/// A FIFO, a character device and an open descriptor (/dev/stdout, /dev/fd/N) are written as the shell's `>` does.
/// A directory, a block device and a socket are refused.
class OutputFile {
 public:
  /// Cost:   of a FIFO, it waits for a reader.
  /// Errors: io; invalid_argument: what stands there cannot be written, or is in the way; unavailable: another process
  ///         is writing that file; cancelled: interrupted while it waited
  [[nodiscard]] static Result<OutputFile> open(std::string path);
  OutputFile(OutputFile&& other) noexcept
      : path_(std::move(other.path_)),
        target_(std::move(other.target_)),
        mode_(other.mode_),
        descriptor_(std::exchange(other.descriptor_, -1)) {}
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// What is written here comes out where standard output does.
  [[nodiscard]] bool is_standard_output() const;
  /// A regular file: synced, and under its name, in the place of what was there. Errors: io
  [[nodiscard]] Result<void> keep();

 private:
  OutputFile(std::string path, std::string target, mode_t mode, int descriptor)
      : path_(std::move(path)), target_(std::move(target)), mode_(mode), descriptor_(descriptor) {}
  static Result<OutputFile> beside(std::string path, std::string target, mode_t mode);
  static Result<OutputFile> in_place(std::string path, const std::string& target);
  [[nodiscard]] std::string part() const { return target_ + ".part"; }

  std::string path_;    ///< as it was named
  std::string target_;  ///< where it will be; empty: it is written in place
  mode_t mode_ = 0;     ///< the replaced file's permissions; 0: none was there
  int descriptor_;
};

}  // namespace evershard
