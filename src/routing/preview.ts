/**
 * The plan that a call would get now, without a call: from memory, and without chance, so that the same question has the
 * same answer. Where a plan draws by weight the likeliest comes first.
 */
import { GatewayError } from "../base/errors.ts";
import { endpointProtocol, isCallable, type EntryPoint } from "../catalog/index.ts";
import { explainOffers, plan, type Explanation, type PlanInput } from "./plan.ts";
import { chooseStrategy, explainTarget } from "./target.ts";

export interface Preview {
  /** Of a refused call nothing is in the order. */
  readonly plan: Explanation;
  /** Why such a call would be refused; null where it would not. */
  readonly refused: GatewayError | null;
}

export interface PreviewInput extends Omit<PlanInput, "random" | "affinity" | "entryPoint"> {
  /** The first one of the model's where absent. */
  readonly entryPoint?: EntryPoint | undefined;
}

/** In the middle of what chance gives. */
const random = (): number => 0.5;

const isEntryPoint = (name: string | undefined): name is EntryPoint =>
  name !== undefined && Object.hasOwn(endpointProtocol, name);

/**
 * What a call of a text or embedding model would get.
 * @throws GatewayError `model_not_found` for a model that there is not, `unsupported_protocol` for another kind
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
    // Which kind of model an entry point is for, the plan sees itself.
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
