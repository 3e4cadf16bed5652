/* A web server on lwIP, to be probed: any request is answered by the same file of zeros.
 *
 * lwip-server DESCRIPTOR BYTES: a TUN device's descriptor, the file's size. lwIP is the distribution's library with its
 * settings (/usr/include/lwip/lwipopts.h). Callbacks run in lwIP's own thread, the main thread reads the device. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lwip/ip.h>
#include <lwip/netif.h>
#include <lwip/tcp.h>
#include <lwip/tcpip.h>

enum { PORT = 80, MTU = 1500, CHUNK = 8192 };

static const char END_OF_REQUEST[4] = "\r\n\r\n";

static int device;
static size_t file_size;
static struct netif interface;

/* A connection: how much of the request's end has been seen, how much of the answer has been handed to TCP. */
struct connection {
    size_t matched;
    char head[160];
    size_t head_size;
    size_t written;
};

static err_t finish(struct tcp_pcb *pcb, struct connection *connection)
{
    tcp_arg(pcb, NULL);
    tcp_recv(pcb, NULL);
    tcp_sent(pcb, NULL);
    tcp_err(pcb, NULL);
    free(connection);
    if (tcp_close(pcb) == ERR_OK)
        return ERR_OK;
    tcp_abort(pcb);
    return ERR_ABRT;
}

/* Hands TCP as much as it takes; it asks for more when some of it has been acknowledged. */
static err_t write_more(struct tcp_pcb *pcb, struct connection *connection)
{
    static const char zeros[CHUNK];
    const size_t total = connection->head_size + file_size;

    while (connection->written < total) {
        const int in_head = connection->written < connection->head_size;
        const char *from = in_head ? connection->head + connection->written : zeros;
        size_t size = in_head ? connection->head_size - connection->written : total - connection->written;
        u8_t flags = TCP_WRITE_FLAG_COPY;

        size = LWIP_MIN(LWIP_MIN(size, (size_t)tcp_sndbuf(pcb)), (size_t)CHUNK);
        if (connection->written + size < total)
            flags |= TCP_WRITE_FLAG_MORE;
        if (size == 0 || tcp_write(pcb, from, (u16_t)size, flags) != ERR_OK)
            break;
        connection->written += size;
    }
    tcp_output(pcb);
    return connection->written == total ? finish(pcb, connection) : ERR_OK;
}

static err_t on_sent(void *argument, struct tcp_pcb *pcb, u16_t acknowledged)
{
    struct connection *connection = argument;

    (void)acknowledged;
    return connection->written > 0 ? write_more(pcb, connection) : ERR_OK;
}

static err_t on_received(void *argument, struct tcp_pcb *pcb, struct pbuf *buffer, err_t error)
{
    struct connection *connection = argument;

    if (buffer == NULL || error != ERR_OK) {
        if (buffer != NULL)
            pbuf_free(buffer);
        return finish(pcb, connection);
    }
    for (u16_t i = 0; i < buffer->tot_len && connection->matched < sizeof END_OF_REQUEST; i++) {
        const char byte = (char)pbuf_get_at(buffer, i);

        if (byte == END_OF_REQUEST[connection->matched])
            connection->matched++;
        else
            connection->matched = byte == END_OF_REQUEST[0];
    }
    tcp_recved(pcb, buffer->tot_len);
    pbuf_free(buffer);
    if (connection->matched < sizeof END_OF_REQUEST || connection->written > 0)
        return ERR_OK;
    return write_more(pcb, connection);
}

/* The connection was reset: TCP has already freed its own part. */
static void on_error(void *argument, err_t error)
{
    (void)error;
    free(argument);
}

static err_t on_accept(void *argument, struct tcp_pcb *pcb, err_t error)
{
    struct connection *connection;

    (void)argument;
    if (error != ERR_OK || pcb == NULL)
        return ERR_VAL;
    connection = calloc(1, sizeof *connection);
    if (connection == NULL)
        return ERR_MEM;
    connection->head_size = (size_t)snprintf(connection->head, sizeof connection->head,
                                             "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
                                             "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                                             file_size);
    tcp_arg(pcb, connection);
    tcp_recv(pcb, on_received);
    tcp_sent(pcb, on_sent);
    tcp_err(pcb, on_error);
    return ERR_OK;
}

/* Out: one packet, one write. */
static err_t output(struct pbuf *packet)
{
    char bytes[MTU];
    const u16_t size = pbuf_copy_partial(packet, bytes, sizeof bytes, 0);

    return write(device, bytes, size) == size ? ERR_OK : ERR_IF;
}

static err_t output_ip4(struct netif *netif, struct pbuf *packet, const ip4_addr_t *to)
{
    (void)netif;
    (void)to;
    return output(packet);
}

static err_t output_ip6(struct netif *netif, struct pbuf *packet, const ip6_addr_t *to)
{
    (void)netif;
    (void)to;
    return output(packet);
}

static err_t set_up_interface(struct netif *netif)
{
    netif->name[0] = 't';
    netif->name[1] = 'n';
    netif->mtu = MTU;
    netif->output = output_ip4;
    netif->output_ip6 = output_ip6;
    return ERR_OK;
}

static void start(void *argument)
{
    ip4_addr_t address, mask, gateway;
    ip6_addr_t address6;
    struct tcp_pcb *pcb;

    (void)argument;
    IP4_ADDR(&address, 10, 78, 0, 2);
    IP4_ADDR(&mask, 255, 255, 255, 0);
    IP4_ADDR(&gateway, 10, 78, 0, 1);
    if (netif_add(&interface, &address, &mask, &gateway, NULL, set_up_interface, tcpip_input) == NULL) {
        fprintf(stderr, "lwip-server: lwIP refuses the interface\n");
        exit(1);
    }
    IP6_ADDR(&address6, PP_HTONL(0xfd780000), 0, 0, PP_HTONL(0x00000002));
    netif_ip6_addr_set(&interface, 0, &address6);
    netif_ip6_addr_set_state(&interface, 0, IP6_ADDR_PREFERRED);
    netif_set_default(&interface);
    netif_set_link_up(&interface);
    netif_set_up(&interface);

    pcb = tcp_new();
    if (pcb == NULL || tcp_bind(pcb, IP_ANY_TYPE, PORT) != ERR_OK || (pcb = tcp_listen(pcb)) == NULL) {
        fprintf(stderr, "lwip-server: lwIP refuses to listen on port %d\n", PORT);
        exit(1);
    }
    tcp_accept(pcb, on_accept);
}

/* In: one read, one packet. */
static int read_packets(void)
{
    for (;;) {
        char bytes[MTU];
        const ssize_t size = read(device, bytes, sizeof bytes);
        struct pbuf *packet;

        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0) {
            fprintf(stderr, "lwip-server: cannot read from the device: %s\n", strerror(errno));
            return 1;
        }
        packet = pbuf_alloc(PBUF_RAW, (u16_t)size, PBUF_POOL);
        if (packet == NULL)
            continue; /* no memory: lost, as on a wire */
        pbuf_take(packet, bytes, (u16_t)size);
        if (interface.input == NULL || interface.input(packet, &interface) != ERR_OK)
            pbuf_free(packet);
    }
}

int main(int count, char **words)
{
    if (count != 3) {
        fprintf(stderr, "lwip-server: expected DESCRIPTOR BYTES\n");
        return 2;
    }
    device = atoi(words[1]);
    file_size = strtoul(words[2], NULL, 10);
    tcpip_init(start, NULL);
    return read_packets();
}
