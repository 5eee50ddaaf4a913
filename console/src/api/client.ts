/** The one way to the API: typed by its own document, refusals thrown as ApiError. */
import { notifyManager, QueryClient } from "@tanstack/react-query";
import createFetchClient from "openapi-fetch";
import createQueryClient from "openapi-react-query";
import { noteDate } from "../base/clock.ts";
import { fetchAgain } from "./again.ts";
import { ApiError, asApiError, errorOf } from "./errors.ts";
import { withEtag } from "./etag.ts";
import { fetchInTime, isLate } from "./in-time.ts";
import type { components, paths } from "./schema.d.ts";

export type Schemas = components["schemas"];

export const client = createFetchClient<paths>({
  baseUrl: "",
  fetch: (request) => fetchAgain(request, fetchInTime),
});
client.use({
  async onResponse({ response }) {
    noteDate(response.headers.get("date"));
    if (!response.ok) throw await errorOf(response);
    return withEtag(response);
  },
  onError: ({ error }) => (error instanceof ApiError ? error : asApiError(error)),
});

/** The client as hooks and query options; keys are method, path and parameters. */
export const api = createQueryClient(client);

const tries = 2;

// What a press began is drawn before the next press is heard: a double click makes one key.
notifyManager.setScheduler(queueMicrotask);

/**
 * Asked for whatever the browser says of its network: the gateway may be on this very machine. Where it cannot be reached, that
 * is said at once; else a change would wait unseen, and be made long after its reader has gone on.
 */
const networkMode = "always";

export const queryClient = new QueryClient({
  defaultOptions: {
    mutations: { networkMode },
    queries: {
      networkMode,
      refetchOnReconnect: true,
      staleTime: 10_000,
      // A refusal stays one; a network may come back. What was waited for long enough is left to the reader.
      retry: (failures, error) => {
        const refusal = asApiError(error);
        const { status } = refusal;
        return failures < tries && !isLate(refusal) && (status === 0 || status >= 500);
      },
    },
  },
});
