#!/bin/sh
# nginx with a file of zeros at port 80: the server of those stacks that take an ordinary program's sockets.
# web.sh BYTES (with web_ipv6 set: for IPv6, too), in a mount namespace or a machine of its own: it mounts a memory file system on /mnt.
set -e
mount -t tmpfs tmpfs /mnt
mkdir /mnt/root
head -c "$1" /dev/zero >/mnt/root/file
cat >/mnt/nginx.conf <<END
daemon off;
master_process off;
pid /mnt/pid;
events {}
http {
    access_log off;
    client_body_temp_path /mnt/body;
    proxy_temp_path /mnt/proxy;
    fastcgi_temp_path /mnt/fastcgi;
    uwsgi_temp_path /mnt/uwsgi;
    scgi_temp_path /mnt/scgi;
    server { listen 80; ${web_ipv6:+listen [::]:80;} root /mnt/root; }
}
END
exec nginx -e stderr -c /mnt/nginx.conf
