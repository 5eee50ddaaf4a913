/**
 * The plan that a call would get now, without making the call. It uses only memory and no chance: the same question has the same answer. If
 * a plan is random and weighted, the likeliest offer comes first.
 */
import { GatewayError } from "../base/errors.ts";
import { endpointProtocol, isCallable, type EntryPoint } from "../catalog/index.ts";
import { explainOffers, plan, type Explanation, type PlanInput } from "./plan.ts";
import { chooseStrategy, explainTarget } from "./target.ts";

export interface Preview {
  /** The order is empty if the call would be refused. */
  readonly plan: Explanation;
  /** The error of such a call; null if it would not be refused. */
  readonly refused: GatewayError | null;
}

export interface PreviewInput extends Omit<PlanInput, "random" | "session" | "entryPoint"> {
  /** If absent, the model's first one. */
  readonly entryPoint?: EntryPoint | undefined;
}

/** The middle of the random range, in place of chance. */
const random = (): number => 0.5;

const isEntryPoint = (name: string | undefined): name is EntryPoint =>
  name !== undefined && Object.hasOwn(endpointProtocol, name);

/**
 * Returns the plan of a call to a text or embedding model.
 * @throws GatewayError `model_not_found` for an unknown model, `unsupported_protocol` for another kind
 */
export function previewPlan({ entryPoint: asked, ...input }: PreviewInput): Preview {
  const model = input.catalog.models.get(input.parsed.model);
  if (model === undefined) {
    const message = `The model "${input.parsed.model}" does not exist.`;
    throw new GatewayError("model_not_found", message, { param: "model" });
  }
  const entryPoint = asked ?? model.endpoints[0];
  if (!isCallable(model) || !isEntryPoint(entryPoint)) {
    const message = `How calls of "${model.id}" are routed depends on what they ask for: only text and embedding models have a preview.`;
    throw new GatewayError("unsupported_protocol", message, { param: "model" });
  }
  const whole = { ...input, entryPoint, random };
  try {
    // `plan` itself checks which kind of model the entry point is for.
    const made = plan(whole as PlanInput<"embeddings">);
    return { plan: made.explanation, refused: null };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const parsed = { model: model.id };
    const chosen = chooseStrategy({ parsed, scope: input.scope });
    return {
      refused: error,
      plan: {
        ...explainTarget({ parsed, entryPoint }, chosen),
        offers: explainOffers(model, whole),
        order: [],
      },
    };
  }
}
