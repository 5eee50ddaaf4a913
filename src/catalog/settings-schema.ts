/** The schema of the settings: everything in the configuration file except its lists. A part of the file's schema (schema.ts). */
import { exportFormats, exportPlacePattern } from "../base/export-place.ts";
import { Type, type Static } from "../base/json-schema.ts";
import { hooksSchema } from "./hooks-schema.ts";
import { closed, count, seconds, text } from "./schema-kit.ts";

const tagNames = (what: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    maxItems: 10,
    uniqueItems: true,
    description: `tags that ${what}; none if absent`,
  });

const serverTls = closed(
  {
    cert: text("PEM file of the gateway's certificate with its intermediates"),
    key: text("PEM file of the certificate's private key, without a passphrase"),
    client_ca: Type.Optional(
      text("PEM file of authorities; only clients with one of their certificates may connect"),
    ),
  },
  "makes the gateway speak TLS; the files are read again when they change",
);

const keptDays = (what: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 2,
      maximum: 3_650,
      description: `days that ${what}; for ever if absent`,
    }),
  );

export type ServerTlsRow = Static<typeof serverTls>;

/** The settings, each optional. */
export const settings = {
  default_model: Type.Optional(
    text("the id of the model in this file that serves unknown model names; none if absent"),
  ),
  prompt_caching: Type.Optional(
    Type.Enum(["asked", "auto"], {
      description:
        "when callers of other protocols get cache markers at Claude; asked: if they send a prompt_cache_key; auto: in conversations without one too, from the second turn on; asked if absent",
    }),
  ),
  limits: Type.Optional(
    closed({
      queue: Type.Optional(
        closed({
          global: Type.Optional(count("tasks in flight; 1000 if absent")),
          per_workspace: Type.Optional(count("tasks in flight of one workspace; 100 if absent")),
        }),
      ),
      task_retry_s: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: 21_600,
          description:
            "seconds after the submission in which a task that no provider accepts is retried; if absent 0, which is three rounds within three seconds",
        }),
      ),
      connections: Type.Optional(
        closed({
          total: Type.Optional(
            count(
              "callers' connections, divided among workers; 20000 if absent, or what the limit of open files and the memory allow",
            ),
          ),
          per_address: Type.Optional(
            count("connections of one IPv4 address or IPv6 /64; a quarter of the total if absent"),
          ),
          unread_s: Type.Optional(
            seconds("seconds after which a client that reads nothing is cut off; 60 if absent"),
          ),
        }),
      ),
      round_calls: Type.Optional(
        Type.Integer({
          minimum: 0,
          description:
            "new calls that a process admits in one round of its event loop, and sixteen times as many in a burst; others get 503; 0: no limit; 64 if absent",
        }),
      ),
      body_mb: Type.Optional(
        Type.Number({
          exclusiveMinimum: 0,
          description: "largest request body in MB; 64 if absent, less with little memory",
        }),
      ),
      text_body_mb: Type.Optional(
        Type.Number({
          exclusiveMinimum: 0,
          description:
            "largest body of a text call in MB, at most `body_mb`; 32 if absent, less with little memory",
        }),
      ),
      bodies_under_way_mb: Type.Optional(
        Type.Number({
          exclusiveMinimum: 0,
          description:
            "MB of bodies held at once, requests and whole answers, divided among workers; above it calls get 503; leave room for twice `body_mb`; if absent the larger of 256 and four times `body_mb`, and less with little memory",
        }),
      ),
    }),
  ),
  storage: Type.Optional(
    closed({
      kind: Type.Enum(["local", "s3"], { description: "where result files are kept" }),
      bucket: Type.Optional(text("the bucket; needed for s3")),
      endpoint: Type.Optional(text("an S3-compatible service's address")),
      region: Type.Optional(text("the region")),
      access_key_id: Type.Optional(
        text("the access key's id; the machine's own credentials if absent"),
      ),
      secret_access_key: Type.Optional(
        text("the access key's secret; the machine's own credentials if absent"),
      ),
      retention_days: Type.Optional(
        Type.Number({
          exclusiveMinimum: 0,
          maximum: 1_000_000,
          description: "days that result files are kept, fractions allowed; 7 if absent",
        }),
      ),
    }),
  ),
  console: Type.Optional(
    closed({
      oidc: Type.Optional(
        closed({
          issuer: text("the identity provider's address"),
          client_id: text("the client's id"),
          client_secret: text("the client's secret, best as ${VARIABLE}"),
        }),
      ),
    }),
  ),
  cors: Type.Optional(
    closed({
      origins: Type.Array(
        Type.String({
          pattern: "^(\\*|\\$\\{.*|[a-z][a-z0-9+.-]*://[^/?#\\sA-Z,*]+)$",
          description:
            "an origin as browsers send it, https://app.example.com, or * for every page",
        }),
        { description: "origins of web pages that may call the gateway; none if absent" },
      ),
    }),
  ),
  server: Type.Optional(
    closed({
      tls: Type.Optional(serverTls),
      keep_alive_s: Type.Optional(
        Type.Number({
          minimum: 1,
          maximum: 3_600,
          description:
            "seconds for which a connection stays open after its last answer; 72 if absent. Must be longer than the idle timeout of a load balancer in front",
        }),
      ),
    }),
  ),
  access_log: Type.Optional(
    closed({
      sample: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: 1,
          description:
            "the share of requests that are logged; 1 if absent, 0 for none; above 0 each request answered with 5xx is logged too",
        }),
      ),
    }),
  ),
  retention: Type.Optional(
    closed(
      {
        request_log_days: keptDays("rows of the request log are kept"),
        tasks_days: keptDays("finished tasks are kept, with their files and callbacks"),
        deliveries_days: keptDays("callbacks and their attempts are kept"),
      },
      "how long data is kept; the ledger and usage are never deleted",
    ),
  ),
  telemetry: Type.Optional(
    closed({
      otlp_endpoint: Type.Optional(
        Type.String({
          pattern: "^(https?://[^\\s?#@]+|\\$\\{.*)$",
          description:
            "the collector for traces by OTLP/HTTP, http://collector:4318; `OTEL_EXPORTER_OTLP_ENDPOINT` if absent; without either, traces are off",
        }),
      ),
      otlp_headers: Type.Optional(
        Type.Record(Type.String(), text("a header's value"), {
          description: "headers for the collector, with its key, best as ${VARIABLE}",
        }),
      ),
      sample: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: 1,
          description:
            "the share of requests that are traced, unless their caller's `traceparent` decides; 1 if absent",
        }),
      ),
      propagate: Type.Optional(
        Type.Enum(["none", "local", "all"], {
          description:
            "which providers get a `traceparent`: none, those at private addresses, or all; local if absent",
        }),
      ),
    }),
  ),
  exports: Type.Optional(
    closed(
      {
        to: Type.String({
          pattern: exportPlacePattern,
          description: "a folder, or s3://bucket/prefix",
        }),
        what: Type.Optional(
          Type.Array(Type.Enum(["requests", "ledger"]), {
            minItems: 1,
            description: "the data to export; both if absent",
          }),
        ),
        format: Type.Optional(
          Type.Enum([...exportFormats], {
            description: "JSON lines compressed with gzip, or Parquet; jsonl if absent",
          }),
        ),
        endpoint: Type.Optional(text("an S3-compatible service's address")),
        region: Type.Optional(text("the bucket's region")),
        access_key_id: Type.Optional(
          text("the access key's id; the machine's own credentials if absent"),
        ),
        secret_access_key: Type.Optional(
          text("the access key's secret; the machine's own credentials if absent"),
        ),
      },
      "writes each ended day to a file, once",
    ),
  ),
  tags: Type.Optional(
    closed(
      {
        metrics: Type.Optional(tagNames("metrics count calls by")),
        usage: Type.Optional(tagNames("usage is summed by, from then on")),
      },
      "tags of calls that are also used in metrics or usage, beside the log; `end_user` is the call's end user",
    ),
  ),
  hooks: Type.Optional(hooksSchema),
  webhooks: Type.Optional(
    closed({ timeout_s: Type.Optional(seconds("seconds that a receiver may take; 15 if absent")) }),
  ),
};
