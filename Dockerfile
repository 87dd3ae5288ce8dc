# One image with the three programs; the service says which one runs.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/ ./worker ./starter ./gateway

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/ /usr/local/bin/
# The handbook of `make dev`, so that a first folder can be added without mounting one: --source files --root /sample
COPY --from=build /src/dev/sample /sample
USER nonroot
CMD ["worker"]
