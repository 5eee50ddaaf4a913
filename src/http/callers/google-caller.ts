/** Whether a request for the models is one of Google's SDKs', which ask under `/v1` as well as under `/v1beta` (docs/decisions.md "Other spellings"). */

interface Head {
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Under `/v1` only the headers tell Google's SDKs from everybody else's. */
export function asksAsGoogle({ url = "", headers }: Head): boolean {
  return (
    url.startsWith("/v1beta/") ||
    headers["x-goog-api-key"] !== undefined ||
    headers["x-goog-api-client"] !== undefined
  );
}
