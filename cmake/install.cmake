# install.cmake - what `make install` puts where: libraries, headers, volery.pc and the CMake package; the command's man
# page and completions; scenarios and vehicles.
include(CMakePackageConfigHelpers)

install(TARGETS volery_static volery_shared EXPORT volery-targets)
install(FILES ${VOLERY_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/volery)

set(VOLERY_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/volery)
install(EXPORT volery-targets NAMESPACE volery:: DESTINATION ${VOLERY_CMAKE_DIR})
configure_package_config_file(cmake/volery-config.cmake.in volery-config.cmake
  INSTALL_DESTINATION ${VOLERY_CMAKE_DIR})
write_basic_package_version_file(volery-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/volery-config.cmake ${PROJECT_BINARY_DIR}/volery-config-version.cmake
  DESTINATION ${VOLERY_CMAKE_DIR})

# The command prints its own man page and completions.
if(NOT CMAKE_CROSSCOMPILING)
  add_custom_command(OUTPUT volery.1 volery.bash _volery
    COMMAND volery_app manual > volery.1
    COMMAND volery_app completion bash > volery.bash
    COMMAND volery_app completion zsh > _volery
    DEPENDS volery_app VERBATIM)
  add_custom_target(volery_pages ALL DEPENDS volery.1 volery.bash _volery)
  install(FILES ${PROJECT_BINARY_DIR}/volery.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PROJECT_BINARY_DIR}/volery.bash RENAME volery
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${PROJECT_BINARY_DIR}/_volery DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()

# volery.pc finds its prefix from its own place, so an installed tree may be moved.
string(REGEX REPLACE "[^/]+" ".." VOLERY_PC_UP ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
list(TRANSFORM VOLERY_LINKS PREPEND -l OUTPUT_VARIABLE VOLERY_PC_LIBS)
list(JOIN VOLERY_PC_LIBS " " VOLERY_PC_LIBS)
configure_file(cmake/volery.pc.in volery.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/volery.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The files a user copies and edits. The command finds these beside itself, in PREFIX/share/volery.
install(DIRECTORY scenarios vehicles DESTINATION ${CMAKE_INSTALL_DATADIR}/volery)
