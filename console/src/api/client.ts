/** The only client of the API: typed by its OpenAPI document; refusals are thrown as ApiError. */
import { notifyManager, QueryClient } from "@tanstack/react-query";
import createFetchClient from "openapi-fetch";
import createQueryClient from "openapi-react-query";
import { noteDate } from "../base/clock.ts";
import { fetchWithReauth } from "./reauth.ts";
import { ApiError, asApiError, errorOf } from "./errors.ts";
import { withEtag } from "./etag.ts";
import { fetchWithTimeout, isTimeout } from "./read-timeout.ts";
import type { components, paths } from "./schema.d.ts";

export type Schemas = components["schemas"];

export const client = createFetchClient<paths>({
  baseUrl: "",
  fetch: (request) => fetchWithReauth(request, fetchWithTimeout),
});
client.use({
  async onResponse({ response, schemaPath }) {
    noteDate(response.headers.get("date"));
    if (!response.ok) {
      if (schemaPath !== mePath) refetchRightsAfter(response.status);
      throw await errorOf(response);
    }
    return withEtag(response);
  },
  onError: ({ error }) => (error instanceof ApiError ? error : asApiError(error)),
});

/** The client as hooks and query options. Query keys are method, path and parameters. */
export const api = createQueryClient(client);

const tries = 2;

// Renders the effect of a click before the next click is handled: a double click creates one key.
notifyManager.setScheduler(queueMicrotask);

/**
 * Sends requests whatever the browser says about its network: the gateway may run on this machine. If the gateway is unreachable, the
 * reader sees that at once. Otherwise a change would wait unseen, and be sent long after the reader has left.
 */
const networkMode = "always";

export const queryClient = new QueryClient({
  defaultOptions: {
    mutations: { networkMode },
    queries: {
      networkMode,
      refetchOnReconnect: true,
      staleTime: 10_000,
      // A refusal is final; a network may recover. Reads that timed out are left to the reader.
      retry: (failures, error) => {
        const refusal = asApiError(error);
        const { status } = refusal;
        return failures < tries && !isTimeout(refusal) && (status === 0 || status >= 500);
      },
    },
  },
});

const mePath = "/admin/v1/me";
const rightsEveryMs = 1_000;
let rightsTimer: ReturnType<typeof setTimeout> | undefined;

/**
 * After a refusal the reader may have lost rights since they were read: reads them again, at most once a second, so that menus offer
 * no more than that.
 */
function refetchRightsAfter(status: number): void {
  const queryKey = ["get", mePath];
  const me = queryClient.getQueryState(queryKey);
  if ((status !== 403 && status !== 404) || me?.data === undefined) return;
  rightsTimer ??= setTimeout(
    () => {
      rightsTimer = undefined;
      void queryClient.refetchQueries({ queryKey });
    },
    Math.max(0, me.dataUpdatedAt + rightsEveryMs - Date.now()),
  );
}
