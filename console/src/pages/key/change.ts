/** Changes a key's settings from a form, with Undo. */
import { client, type Schemas } from "../../api/client.ts";
import { ifMatch } from "../../api/etag.ts";
import { invalidatedPaths } from "../../api/invalidation.ts";
import { previousValues } from "../../base/previous-values.ts";
import { routingOf } from "../../base/routing.ts";
import { useChange } from "../../ui/change.ts";
import type { Draft } from "../../ui/draft.ts";
import { readKey, type Key } from "./queries.ts";
import { useMay } from "./rights.ts";

export type Patch = Schemas["ChangeKeyRequest"];

/** Returns the patch that undoes a patch. If routing was `follow`, it sends only the mode: the API refuses unused settings. */
function previousPatch(before: Key, patch: Patch): Patch {
  const former = previousValues(before, patch);
  return patch.routing === undefined ? former : { ...former, routing: routingOf(before.routing) };
}

/** Saves a patch of the draft's key. */
export function usePatch(draft: Pick<Draft<Key, object>, "base" | "settle" | "discard">) {
  const { base, settle, discard } = draft;
  const may = useMay(base);
  const send = async (body: Patch, header: { "If-Match"?: string }) => {
    const params = { path: { id: base.id }, header };
    return (await client.PATCH("/admin/v1/keys/{id}", { params, body })).data!;
  };
  return useChange({
    base,
    read: () => readKey(base.id),
    send: (body: Patch, headers) => send(body, headers.ifMatch),
    invalidates: invalidatedPaths.key,
    settled: settle,
    dropped: discard,
    success: "Saved.",
    undo: (after, body, before) => send(previousPatch(before, body), ifMatch(after)),
    // Undoing a lowered cap raises it, and that of a cache that was switched off switches it on.
    mayUndo: (body) =>
      (body.spend_caps === undefined || may("key.loosen_spend_caps")) &&
      (body.response_cache === undefined || may("key.loosen_limits")),
  });
}
