/* What a server gives up once it is open: all files but those it may read again, and all calls of the system that it
 * has no use for. */
#ifndef GANZ_SERVER_SANDBOX_H
#define GANZ_SERVER_SANDBOX_H

#include "server.h"

/* No core file shows what was translated, and no other process of the user looks. */
void sandbox_memory(void);
/* To be called before the first thread is made, sockets being open. Returns whether the kernel took it. */
bool sandbox_files(const server_options *o);
/* To be called when all is open; for all threads. */
bool sandbox_calls(void);

#endif
