/** The modes of the playground, and the models for each. Pure. */
import type { Protocol } from "../../base/code.ts";
import type { Callable } from "./queries.ts";

export const modes = ["text", "image", "edit", "video", "embedding"] as const;
export type Mode = (typeof modes)[number];

export const modeNames: Readonly<Record<Mode, string>> = {
  text: "Text",
  image: "Image",
  edit: "Edit",
  video: "Video",
  embedding: "Embedding",
};

const endpoints: Readonly<Record<Protocol, string>> = {
  chat: "chat_completions",
  responses: "responses",
  messages: "messages",
  generate_content: "generate_content",
};

const supportsProtocol = (model: Callable, protocol: Protocol): boolean =>
  model.endpoints.includes(endpoints[protocol]);

const hasOutput = (model: Callable, what: string): boolean =>
  model.architecture.output_modalities.includes(what);

const hasEndpoint = (model: Callable, ...names: readonly string[]): boolean =>
  names.some((name) => model.endpoints.includes(name));

/** True if a model supports a mode; in text mode, in this protocol. */
export function fits(model: Callable, mode: Mode, protocol: Protocol): boolean {
  switch (mode) {
    case "text":
      return supportsProtocol(model, protocol);
    case "image":
      return hasOutput(model, "image") && hasEndpoint(model, "images_generations", "tasks");
    case "edit":
      return hasOutput(model, "image") && hasEndpoint(model, "images_edits", "tasks");
    case "video":
      return hasOutput(model, "video") && hasEndpoint(model, "tasks");
    case "embedding":
      return hasEndpoint(model, "embeddings");
  }
}

const kept = "tollgate-playground";

/** The last chosen models by mode: all that this page stores in the browser. */
function choices(): Partial<Record<Mode, unknown>> {
  try {
    return JSON.parse(localStorage.getItem(kept) ?? "{}") as Partial<Record<Mode, unknown>>;
  } catch {
    return {};
  }
}

export function rememberedModels(mode: Mode): readonly string[] {
  const models = choices()?.[mode];
  return Array.isArray(models) ? models.filter((one) => typeof one === "string") : [];
}

export function rememberModels(mode: Mode, models: readonly string[]): void {
  try {
    localStorage.setItem(kept, JSON.stringify({ ...choices(), [mode]: models }));
  } catch {
    // Storage is disabled: the choice lasts as long as the page.
  }
}
