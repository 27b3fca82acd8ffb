# One gateway node. The official uWebSockets.js is taken in place of the repack by:
#   docker build --build-arg UWEBSOCKETS=github:uNetworking/uWebSockets.js#v20.67.0 .
FROM node:22-bookworm-slim
ARG UWEBSOCKETS=
ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN if [ -n "$UWEBSOCKETS" ]; then \
      apt-get update && apt-get install -y --no-install-recommends git ca-certificates && \
      npm ci --omit=dev && npm install --omit=dev --no-save "uWebSockets.js@$UWEBSOCKETS" && \
      rm -rf /var/lib/apt/lists/*; \
    else npm ci --omit=dev; fi
COPY tsconfig.json ormconfig.ts ./
COPY src src
COPY actors actors
COPY machines machines
RUN mkdir data && chown node:node data
USER node
ENV SERVICE_HTTP_ADDR=0.0.0.0:8080
EXPOSE 8080
STOPSIGNAL SIGTERM
CMD ["node", "--max-semi-space-size=32", "src/main.ts"]
