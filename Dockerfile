# Discern as an image:   docker build -t discern .
#                        docker run --read-only -p 127.0.0.1:8080:8080 -v discern:/data discern --insecure
# The tests run in the build stage. The image holds Debian's slim base, the binary and its libraries.

FROM debian:trixie-slim AS build
WORKDIR /src
COPY deploy/install-packages deploy/
RUN deploy/install-packages build tests && rm -rf /var/lib/apt/lists/*
COPY . .
RUN make -s -j"$(nproc)" programs && tests/suite
RUN make install DESTDIR=/out PREFIX=/usr && strip --strip-unneeded /out/usr/bin/discernd

FROM debian:trixie-slim
COPY deploy/install-packages /tmp/
RUN /tmp/install-packages run \
    && rm -rf /tmp/install-packages /var/lib/apt/lists/* /var/log/apt /var/log/dpkg.log /var/cache/ldconfig/aux-cache \
    && install -d -o 10001 -g 10001 -m 750 /data
COPY --from=build /out/usr/bin/discernd /usr/bin/discernd
COPY --from=build /out/usr/share/doc/discern /usr/share/doc/discern
COPY LICENSE /usr/share/doc/discern/copyright
# The bill of materials: docker run --rm --entrypoint cat discern /usr/share/discern/sbom.spdx.json
ARG SOURCE_DATE_EPOCH=0
COPY deploy/sbom /tmp/
RUN mkdir -p /usr/share/discern \
    && SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH /tmp/sbom > /usr/share/discern/sbom.spdx.json \
    && rm /tmp/sbom
USER 10001:10001
ENV DISCERN_LISTEN=0.0.0.0:8080 DISCERN_DATABASE=/data/discern.db
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["discernd", "--healthcheck"]
# It listens on all addresses, so it starts only with tokens or with --insecure (a trusted network).
ENTRYPOINT ["discernd"]
