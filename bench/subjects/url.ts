/** Any other gateway, by `--url`, `--key` and `--model`. The user configures it in front of the benchmark's upstream. */
import { endpointPaths, type Candidate } from "./types.ts";

interface UrlOptions {
  readonly url: string;
  readonly key: string;
  readonly model: string;
}

/** Supports only calls with one key and one model: chat completions, whole and streamed. Its processor time is unknown. */
export function gatewayAt({ url, key, model }: UrlOptions): Candidate {
  const { origin, pathname } = new URL(url);
  const prefix = pathname.replace(/\/+$/, "") || "/v1";
  return {
    name: url,
    start: () =>
      Promise.resolve({
        name: url,
        url: origin,
        pid: undefined,
        route: ({ endpoint, keys, conversion, answer }) =>
          endpoint === "chat" && keys === "one" && conversion === "direct" && answer !== "held"
            ? {
                path: `${prefix}${endpointPaths.chat}`,
                model,
                headers: [{ authorization: `Bearer ${key}` }],
              }
            : undefined,
        close: () => Promise.resolve(),
      }),
  };
}
