/** The gallery's filters, as in the URL, and values derived from a task. Pure. */
import type { Schemas } from "../../api/client.ts";
import { fit, pick } from "../../base/search.ts";

export type Task = Schemas["TaskRecords"]["data"][number];

export const filterNames = ["status", "kind", "model", "provider", "key", "member"] as const;
export type Filters = {
  readonly [Name in "view" | (typeof filterNames)[number]]?: string;
};

const states = ["queued", "running", "succeeded", "failed", "expired", "canceled"] as const;
const kinds = ["image", "video"] as const;

/** A URL value if it is allowed; others count as absent. */
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

/** The query of the list. */
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

/** The path of a gateway file: the page may be open under a host other than the public one. */
function pathOf(url: string): string {
  const { pathname } = new URL(url, "http://gateway");
  return pathname.startsWith("/files/") ? pathname : "";
}

export interface Output {
  readonly kind: "image" | "video";
  readonly path: string;
}

/** The task's outputs while they are kept. */
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

/** The reason why a task shows no output. */
export function withoutOutput(task: Task): string {
  if (task.status === "succeeded") return "Its files are no longer stored.";
  if (task.status === "queued") return "Waiting to start.";
  if (task.status === "running") return "In progress.";
  return task.error?.message ?? task.status;
}

export const toneOf = ({ status }: Pick<Task, "status">): "ok" | "bad" | "warn" | "muted" => {
  if (status === "succeeded") return "ok";
  if (status === "failed" || status === "expired") return "bad";
  return status === "canceled" ? "muted" : "warn";
};
