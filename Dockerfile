# The server in a container. docs/guides/container.md says how to run it, and what of this file was tried.
FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm pack --pack-destination /package

FROM node:24-slim
# tini passes signals on, and takes up processes whose parent has ended.
RUN apt-get update && apt-get install -y --no-install-recommends tini && rm -rf /var/lib/apt/lists/*
COPY --from=build /package/*.tgz /package/
# pg is for a workspace in PostgreSQL (docs/scale.md).
RUN npm install --global --omit=dev /package/*.tgz pg@8 && npm cache clean --force && rm -rf /package
RUN mkdir /data && chown node:node /data && chmod 700 /data
USER node
ENV NODE_ENV=production BLOCKHOUSE_WORKSPACE=/data BLOCKHOUSE_HOST=0.0.0.0 BLOCKHOUSE_PORT=8420 BLOCKHOUSE_ALLOW_REMOTE=1
VOLUME /data
EXPOSE 8420
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 CMD ["blockhouse", "status"]
ENTRYPOINT ["tini", "--", "blockhouse"]
CMD ["serve"]
