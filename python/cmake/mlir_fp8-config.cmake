# find_package(mlir_fp8 REQUIRED PATHS <what fp8-translate --cmake-dir prints>) gives
#
#   add_fp8_library(<name> <module> [OPTIONS <option>...])
#
# a static library of all public functions of <module> (MLIR text, bytecode or a StableHLO portable
# artifact), compiled when it is built, and its header <name>.h, which targets that link it find.
# Options are those of fp8-translate --emit: --mcpu=x86-64-v3, --threads=4, --saturate, ...
# C or C++ must be enabled in the project.

set(MLIR_FP8_TRANSLATE "" CACHE STRING
    "Command of fp8-translate, a list (default: fp8-translate, as found)")

function(add_fp8_library name module)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "add_fp8_library: what is '${arg_UNPARSED_ARGUMENTS}'?")
  endif()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("C" IN_LIST languages)
    set(language C)
  elseif("CXX" IN_LIST languages)
    set(language CXX)
  else()
    message(FATAL_ERROR "add_fp8_library: enable C or C++ in project()")
  endif()
  set(translate "${MLIR_FP8_TRANSLATE}")
  if(NOT translate)
    find_program(MLIR_FP8_TRANSLATE_PROGRAM fp8-translate REQUIRED)
    set(translate "${MLIR_FP8_TRANSLATE_PROGRAM}")
  endif()
  get_filename_component(source "${module}" ABSOLUTE)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}.fp8")
  set(object "${folder}/${name}${CMAKE_${language}_OUTPUT_EXTENSION}")
  set(header "${folder}/${name}.h")
  file(MAKE_DIRECTORY "${folder}")
  add_custom_command(
    OUTPUT "${object}" "${header}"
    COMMAND ${translate} --emit=obj "--c-prefix=${name}" "--c-header=${header}" ${arg_OPTIONS}
            -o "${object}" "${source}"
    DEPENDS "${source}"
    COMMENT "Compiling ${module}"
    VERBATIM)
  add_library(${name} STATIC "${object}" "${header}")
  set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE ${language})
  target_include_directories(${name} PUBLIC "${folder}")
  if(UNIX)
    target_link_libraries(${name} PUBLIC m)
  endif()
  if(arg_OPTIONS MATCHES "-threads")
    find_package(Threads REQUIRED)
    target_link_libraries(${name} PUBLIC Threads::Threads)
  endif()
endfunction()
