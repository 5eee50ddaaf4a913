/** Code to verify a callback, by language. The same as in docs/callbacks.md. */

const javascript = `import { Webhook } from "standardwebhooks";

// rawBody: the bytes as they came. Throws where the signature does not fit.
const event = new Webhook(process.env.SIGNING_SECRET).verify(rawBody, headers);`;

const python = `import os
from standardwebhooks.webhooks import Webhook

# raw_body: the bytes as they came. Raises where the signature does not fit.
event = Webhook(os.environ["SIGNING_SECRET"]).verify(raw_body, headers)`;

const go = `import standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

wh, err := standardwebhooks.NewWebhook(os.Getenv("SIGNING_SECRET"))
// rawBody: the bytes as they came.
err = wh.Verify(rawBody, request.Header)`;

const shell = `# gw-signature: t=<seconds>,v1=<hex>. The same hex comes out:
printf '%s.' "$T" | cat - body.json | openssl dgst -sha256 -hmac "$SIGNING_SECRET"`;

export const languages = [
  { value: "javascript", label: "JavaScript", code: javascript },
  { value: "python", label: "Python", code: python },
  { value: "go", label: "Go", code: go },
  { value: "shell", label: "Shell", code: shell },
] as const;
