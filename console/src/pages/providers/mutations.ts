/** Changes of providers. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { client, type Schemas } from "../../api/client.ts";
import { ifMatch } from "../../api/etag.ts";
import { refetchPaths, invalidatedPaths } from "../../api/invalidation.ts";
import { useChange } from "../../ui/change.ts";
import type { Provider } from "./state.ts";

export type AddBody = Schemas["AddProviderRequest"];
export type Stored = Schemas["Provider"];

/** Adds a provider, then opens its page. */
export function useAdd() {
  const navigate = useNavigate();
  return useChange({
    send: async (body: AddBody) => (await client.POST("/admin/v1/providers", { body })).data!,
    invalidates: invalidatedPaths.provider,
    success: "Provider added.",
    done: ({ id }) =>
      void navigate({ to: "/providers/$id", params: { id }, search: ({ ws }) => ({ ws }) }),
  });
}

const pause = async (id: string, until: string | undefined, header: object) => {
  const body = until === undefined ? {} : { until };
  const params = { path: { id }, header };
  return (await client.POST("/admin/v1/providers/{id}/pause", { params, body })).data!;
};
const resume = async (id: string, header: object) => {
  const params = { path: { id }, header };
  return (await client.POST("/admin/v1/providers/{id}/resume", { params, body: {} })).data!;
};

/** Pauses for an hour; Undo is offered for ten seconds. */
export const usePause = ({ id }: Provider) =>
  useChange({
    send: () => pause(id, undefined, {}),
    invalidates: invalidatedPaths.provider,
    success: `${id} is paused for an hour.`,
    undo: (after) => resume(id, ifMatch(after)),
  });

export const useResume = ({ id, paused_until: until }: Provider) =>
  useChange({
    send: () => resume(id, {}),
    invalidates: invalidatedPaths.provider,
    success: `${id} gets calls again.`,
    undo: (after) => pause(id, until ?? undefined, ifMatch(after)),
  });

/** Removes a provider that was added here. */
export function useRemove({ id }: Provider): () => Promise<void> {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    await client.DELETE("/admin/v1/providers/{id}", { params: { path: { id } } });
    // Edits of a provider that is gone cannot be saved any more.
    await navigate({ to: "/providers", search: ({ ws }) => ({ ws }), ignoreBlocker: true });
    await refetchPaths(queries, invalidatedPaths.provider);
  };
}

type ChangeBody = Schemas["ChangeProviderRequest"];
type CredentialBody = Schemas["AddProviderCredentialRequest"];

const readStored = async (id: string) =>
  (await client.GET("/admin/v1/providers/{id}", { params: { path: { id } } })).data!;

interface ProviderForm {
  readonly settled: (saved: Stored) => void;
  readonly dropped: () => void;
}

/** `stored` is the version that filled the form, not a later one. */
export const useChangeProvider = (stored: Stored, form: ProviderForm) =>
  useChange({
    send: async (body: ChangeBody, { ifMatch: header }) => {
      const params = { path: { id: stored.id }, header };
      return (await client.PATCH("/admin/v1/providers/{id}", { params, body })).data!;
    },
    invalidates: invalidatedPaths.provider,
    base: stored,
    read: () => readStored(stored.id),
    success: "Saved.",
    ...form,
  });

/** Adds a further credential. */
export const useAddCredential = ({ id }: Provider, done: () => void) =>
  useChange({
    send: async (body: CredentialBody) => {
      const params = { path: { id } };
      return (await client.POST("/admin/v1/providers/{id}/credentials", { params, body })).data!;
    },
    invalidates: invalidatedPaths.provider,
    success: "Key added.",
    done,
  });

export function useRemoveCredential({ id }: Provider): (credential: string) => Promise<void> {
  const queries = useQueryClient();
  return async (credential) => {
    const params = { path: { id, credential_id: credential } };
    await client.DELETE("/admin/v1/providers/{id}/credentials/{credential_id}", { params });
    await refetchPaths(queries, invalidatedPaths.provider);
  };
}
