/**
 * The configuration to start from, with comments: `tollgate config example`. A line that begins with `#` and no space is a setting that
 * is left out. A test enables all of them.
 */

/** The text of the file. It is valid as it is, and with every setting enabled. */
export const exampleConfig = `# Where it stands: tollgate.yaml beside the gateway, or where TOLLGATE_CONFIG says.
# "tollgate config check" names every mistake with its line, and "tollgate config schema" is for editors.
# Every field is in docs/configuration.md. A line that begins with # and no space is a setting: take the # away to use it.
# \${NAME} is an environment variable, or the file that NAME_FILE names. \${NAME:-text} says what holds without it.
#
# Vendors need nothing here: set OPENAI_API_KEY, MISTRAL_API_KEY and so on, and "tollgate vendors" shows who is there.

# Changes of providers, models, prices, default_model, prompt_caching and server.tls take effect at once, all others at the next start.

# Who can be called.
providers:
  - id: house
    # openai, openai-compatible, anthropic, google, xai, dashscope, ark, azure, vertex or bedrock
    dialect: openai-compatible
    # with its version segment
    base_url: http://127.0.0.1:9001/v1
    # none: a server that takes no key
    api_key: \${HOUSE_API_KEY:-none}
    # official, partner or community; keys and workspaces may be kept to some tiers
    tier: community
#    on_disconnect: abort
#    timeouts: { connect_s: 10, first_byte_s: 120, idle_s: 120, total_s: 3600 }
#    proxy: none

# What callers can ask for.
models:
  - id: acme/talk
    kind: text
#    aliases: [talk, "talk-*"]
#    fallbacks: []
    context_length: 200000
    max_output_tokens: 32000
    # what a call that names no maximum reserves
#    reserve_output_tokens: 4000
    offers:
      # one or more; who is asked first is up to price, speed and weight (docs/routing.md)
      - provider: house
        # chat, responses, messages or generate_content: what this provider speaks
        protocol: chat
        upstream_model: talk-large
        # USD per million tokens, as text
        price: { input: "0.50", cache_read: "0.05", cache_write: "0.625", output: "2.00" }
#        weight: 1

# Answers to names that no model has.
#default_model: acme/talk

# Claude caches only marked prompts. auto: conversations over chat, responses and generateContent are marked from their second turn on,
# also if the caller names no session. A cache write costs 1.25 times the input, a read a tenth (docs/models.md).
#prompt_caching: auto

# What a process takes.
#limits:
#  body_mb: 64
#  text_body_mb: 32
#  round_calls: 64
#  queue: { global: 1000, per_workspace: 100 }
#  task_retry_s: 600 # tasks wait so long for a provider that is busy or away; without it, three seconds

# Files that image and video calls make: "local" is the data directory. Gateways on several machines need a bucket.
#storage: { kind: local, retention_days: 7 }

# Without it calls, tasks and callbacks are kept for ever. The ledger and the sums of usage always are.
#retention: { request_log_days: 90, tasks_days: 90, deliveries_days: 30 }

# A file of JSON lines (jsonl) or Parquet for each day: a folder, or s3://bucket/prefix.
#exports: { to: /var/lib/tollgate/exports, what: [requests, ledger], format: parquet }

# Tags of calls (the header x-gw-metadata) that usage and metrics are summed by. end_user is the end user.
#tags: { usage: [customer, end_user], metrics: [customer] }

# Pages in a browser that may call.
#cors: { origins: ["https://app.example.com"] }

# TLS without a proxy in front, and how long connections stay open after an answer.
#server: { tls: { cert: fullchain.pem, key: privkey.pem }, keep_alive_s: 72 }

# Traces by OTLP/HTTP.
#telemetry: { otlp_endpoint: "http://127.0.0.1:4318", sample: 0.1 }

# The share of requests that get a line in the log.
#access_log: { sample: 1 }

# Sign-in to the console by your identity provider.
#console:
#  oidc:
#    issuer: https://login.example.com
#    client_id: tollgate
#    client_secret: \${OIDC_CLIENT_SECRET}

# Your own checks of calls (docs/hooks.md).
#hooks:
#  - { name: guard, at: before, url: "https://guard.example.com/check", secret: "\${GUARD_SECRET}" }

# How long a receiver of callbacks may take.
#webhooks: { timeout_s: 15 }
`;
