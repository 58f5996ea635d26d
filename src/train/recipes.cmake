# recipes/*.yaml become part of the library, so that `--recipe base` works wherever the program is.
set(GANZ_RECIPES)
foreach(recipe base base-quick big big-quick few-bits paper paper-base paper-big small text tiny)
  list(APPEND GANZ_RECIPES ${PROJECT_SOURCE_DIR}/recipes/${recipe}.yaml)
endforeach()
string(REPLACE ";" "," GANZ_RECIPES_IN "${GANZ_RECIPES}")
set(GANZ_RECIPES_C ${CMAKE_CURRENT_BINARY_DIR}/recipes.c)
add_custom_command(OUTPUT ${GANZ_RECIPES_C}
  COMMAND ${CMAKE_COMMAND} -DIN=${GANZ_RECIPES_IN} -DOUT=${GANZ_RECIPES_C} -P ${PROJECT_SOURCE_DIR}/tools/embed.cmake
  DEPENDS ${GANZ_RECIPES} ${PROJECT_SOURCE_DIR}/tools/embed.cmake VERBATIM)
list(APPEND GANZ_TRAIN ${GANZ_RECIPES_C})
