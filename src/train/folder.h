/* The folder of a run: names of its files, and their locks. */
#ifndef GANZ_TRAIN_FOLDER_H
#define GANZ_TRAIN_FOLDER_H

#include "base/base.h"

enum { GANZ_PATH = 1024 };

typedef struct ganz_folder {
    const char *path; /* borrowed */
    char last[GANZ_PATH], best[GANZ_PATH], average[GANZ_PATH], log[GANZ_PATH], svg[GANZ_PATH];
    /* of quantization: the model after scales were first learned; the learned model where a calibrated one is better;
     * that one until it is chosen; the scales over time */
    char phase3[GANZ_PATH], learned[GANZ_PATH], calibrated[GANZ_PATH], history[GANZ_PATH], history_svg[GANZ_PATH];
} ganz_folder;

ganz_status ganz_folder_name(ganz_folder *folder, const char *path, ganz_error *err);
/* The model kept at a step. */
ganz_status ganz_folder_model(const ganz_folder *folder, int64_t step, char path[GANZ_PATH], ganz_error *err);
/* Makes the folder unless it is there. */
ganz_status ganz_folder_make(const ganz_folder *folder, ganz_error *err);
/* Removes temporary files of outputs that a killed run left behind. */
void ganz_folder_sweep(const ganz_folder *folder);

/* Takes a file that one run at a time may write: two in one folder would spoil each other. The lock ends with the
 * process, however that ends. Not fcntl: its locks also end when any other reader in the process closes the file. */
ganz_status ganz_folder_lock(int file, const char *path, ganz_error *err);

bool ganz_exists(const char *path);

#endif
