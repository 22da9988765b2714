# Writes the header FILE, which says of which commit the tree SOURCE is; nothing, if it is none
# of git's. The file is left alone where nothing changed.
set(commit "")
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=12
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${FILE} CONTENT "#define BB_COMMIT \"@commit@\"\n" @ONLY)
