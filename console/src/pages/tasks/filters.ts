/** The filters of the gallery, as they stand in the address, and what is read off a task. Pure. */
import type { Schemas } from "../../api/client.ts";
import { fit, pick } from "../../base/search.ts";

export type Task = Schemas["TaskRecords"]["data"][number];

export const filterNames = ["status", "kind", "model", "provider", "key", "member"] as const;
export type Filters = {
  readonly [Name in "view" | (typeof filterNames)[number]]?: string;
};

const states = ["queued", "running", "succeeded", "failed", "expired", "canceled"] as const;
const kinds = ["image", "video"] as const;

/** A value of the address where it is one of those there are; another one counts as absent. */
const oneOf = <Value extends string>(values: readonly Value[], text: string | undefined) =>
  values.find((value) => value === text);

export const filtersOf = (search: Record<string, unknown>): Filters =>
  fit(pick(search, [...filterNames, "view"]), {
    status: states,
    kind: kinds,
    view: ["grid", "table"],
  });

export const stateChoices = states;
export const kindChoices = kinds;

/** What the list is asked for. */
export const queryOf = (filters: Filters & { readonly ws?: string | undefined }) => ({
  workspace_id: filters.ws,
  status: oneOf(states, filters.status),
  kind: oneOf(kinds, filters.kind),
  model: filters.model,
  provider: filters.provider,
  key_id: filters.key,
  member_id: filters.member,
});

export const isUnderWay = ({ status }: Pick<Task, "status">): boolean =>
  status === "queued" || status === "running";

/** A file of ours by its path: the page may be open at another name of the gateway than its public one. */
function pathOf(url: string): string {
  const { pathname } = new URL(url, "http://gateway");
  return pathname.startsWith("/files/") ? pathname : "";
}

export interface Output {
  readonly kind: "image" | "video";
  readonly path: string;
}

/** What it produced, while it is kept. */
export function outputsOf({ output, outputs_until: until }: Task): readonly Output[] {
  if (until === null) return [];
  const { images, videos = [] } = output as {
    readonly images: readonly { readonly url: string }[];
    readonly videos?: readonly { readonly url: string }[];
  };
  const made = [
    ...images.map(({ url }) => ({ kind: "image" as const, path: pathOf(url) })),
    ...videos.map(({ url }) => ({ kind: "video" as const, path: pathOf(url) })),
  ];
  return made.filter(({ path }) => path !== "");
}

/** Why a task shows no picture. */
export function withoutOutput(task: Task): string {
  if (task.status === "succeeded") return "Its files are no longer kept.";
  if (task.status === "queued") return "Waiting for its turn.";
  if (task.status === "running") return "Being made.";
  return task.error?.message ?? task.status;
}

export const toneOf = ({ status }: Pick<Task, "status">): "ok" | "bad" | "warn" | "muted" => {
  if (status === "succeeded") return "ok";
  if (status === "failed" || status === "expired") return "bad";
  return status === "canceled" ? "muted" : "warn";
};
