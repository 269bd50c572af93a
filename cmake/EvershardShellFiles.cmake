# As a script: has PROGRAM write its completions and its man page into FOLDER.

file(MAKE_DIRECTORY ${FOLDER})
foreach(file "evershard.bash;completion;bash" "_evershard;completion;zsh" "evershard.fish;completion;fish" "evershard.1;help;--man")
  list(POP_FRONT file name)
  execute_process(COMMAND ${PROGRAM} ${file} OUTPUT_FILE ${FOLDER}/${name} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
