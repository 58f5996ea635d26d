/* The network of a recipe, and back. */
#ifndef GANZ_TRAIN_SHAPE_H
#define GANZ_TRAIN_SHAPE_H

#include "ganz/recipe.h"
#include "nn/config.h"

/* For a vocabulary of so many entries and inputs of so many tokens. */
ganz_config ganz_recipe_config(const ganz_recipe *recipe, int vocab, int positions);
/* Notes in a recipe the network of a model that is trained on, as far as a recipe has words for it. */
void ganz_recipe_note_config(ganz_recipe *recipe, const ganz_config *config);

#endif
