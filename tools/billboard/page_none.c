/* In place of page_server.c where libmicrohttpd was not there when the program was built. */
#include "page.h"

#include <stdlib.h>

billboard_status page_server_open(page_server **out, unsigned *port) {
    (void)out, (void)port;
    return cmd_fail(BILLBOARD_FAILED,
                    "--page: Billboard was built without pages: on Debian, install "
                    "libmicrohttpd-dev and build it again");
}

void page_server_show(page_server *server, char *status, char *metrics) {
    (void)server;
    free(status);
    free(metrics);
}

void page_server_close(page_server *server) {
    (void)server;
}
