#include "evershard/storage/index/read_work_for_write.hpp"

#include <utility>

namespace evershard::storage {
namespace {

thread_local ReadWork* work_for_write_here = nullptr;

}  // namespace

ReadWorkForWrite::ReadWorkForWrite(ReadWork& work) : before_(std::exchange(work_for_write_here, &work)) {}
ReadWorkForWrite::~ReadWorkForWrite() { work_for_write_here = before_; }
ReadWork* ReadWorkForWrite::current() { return work_for_write_here; }

}  // namespace evershard::storage
