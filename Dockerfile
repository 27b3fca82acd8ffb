# One gateway node. By itself it is one process with its data in /app/data:
#   docker build -t heliograph . && docker run -p 8080:8080 -v heliograph:/app/data heliograph
# The official uWebSockets.js is taken in place of the repack by:
#   docker build --build-arg UWEBSOCKETS=github:uNetworking/uWebSockets.js#v20.67.0 .
# It needs glibc 2.38 or newer, which is why the base is trixie.
FROM node:22-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ormconfig.ts ./
COPY .ci/build-console.js .ci/
COPY src src
COPY actors actors
COPY machines machines
RUN npm run build

FROM node:22-trixie-slim
ARG UWEBSOCKETS=
ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Scripts would build anew. The packages node-* are Node itself, which the base has.
RUN npm ci --omit=dev --ignore-scripts && \
    if [ -n "$UWEBSOCKETS" ]; then \
      apt-get update && apt-get install -y --no-install-recommends git ca-certificates && \
      npm install --omit=dev --ignore-scripts --no-save "uWebSockets.js@$UWEBSOCKETS" && \
      rm -rf /var/lib/apt/lists/*; \
    fi && \
    rm -rf node_modules/node-linux-* node_modules/.bin/node && \
    npm cache clean --force
COPY --from=build /app/dist dist
RUN mkdir data && chown node:node data
USER node
ENV SERVICE_HTTP_ADDR=0.0.0.0:8080
EXPOSE 8080
STOPSIGNAL SIGTERM
CMD ["node", "dist/src/main.js"]
