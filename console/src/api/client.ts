/** The one way to the API: typed by its own document, refusals thrown as ApiError. */
import { QueryClient } from "@tanstack/react-query";
import createFetchClient from "openapi-fetch";
import createQueryClient from "openapi-react-query";
import { fetchAgain } from "./again.ts";
import { ApiError, asApiError, errorOf } from "./errors.ts";
import { withEtag } from "./etag.ts";
import type { components, paths } from "./schema.d.ts";

export type Schemas = components["schemas"];

export const client = createFetchClient<paths>({ baseUrl: "", fetch: fetchAgain });
client.use({
  async onResponse({ response }) {
    if (!response.ok) throw await errorOf(response);
    return withEtag(response);
  },
  onError: ({ error }) => (error instanceof ApiError ? error : asApiError(error)),
});

/** The client as hooks and query options; keys are method, path and parameters. */
export const api = createQueryClient(client);

const tries = 2;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // A refusal stays one; a network may come back.
      retry: (failures, error) => {
        const { status } = asApiError(error);
        return failures < tries && (status === 0 || status >= 500);
      },
    },
  },
});
