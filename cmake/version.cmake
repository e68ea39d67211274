# The version is stamped at build time: the project's version number and the commit that it was built from.
add_custom_target(ralph_version
  COMMAND ${CMAKE_COMMAND} -DVERSION=${PROJECT_VERSION} -DSOURCE=${PROJECT_SOURCE_DIR}
          -DOUT=${PROJECT_BINARY_DIR}/generated/version.h -P ${PROJECT_SOURCE_DIR}/cmake/stamp_version.cmake
  BYPRODUCTS ${PROJECT_BINARY_DIR}/generated/version.h
  COMMENT "Stamping the version")
