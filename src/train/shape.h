/* The network of a recipe, and back. */
#ifndef GANZ_TRAIN_SHAPE_H
#define GANZ_TRAIN_SHAPE_H

#include "ganz/recipe.h"
#include "nn/net.h"

/* For a vocabulary of so many entries and inputs of so many tokens. */
ganz_config ganz_recipe_config(const ganz_recipe *recipe, int vocab, int positions);
/* Notes in a recipe the network of a model that is trained on, as far as a recipe has words for it. */
void ganz_recipe_note_config(ganz_recipe *recipe, const ganz_config *config);

/* Banned words (a bias of -infinity) get a bias at which they are as good as banned, but that can be added, averaged
 * and learned on like any other. `block`: the parameters, in ordinary memory. */
void ganz_soften_bans(const ganz_net *net, real *block);

#endif
