/** The upper bound on the cost of a text call, reserved before it runs. docs/decisions.md. */
import { checkBound } from "../base/cost-bound.ts";
import { larger } from "../base/money.ts";
import type { WireObject } from "../base/json.ts";
import {
  spellingOf,
  upperBound,
  type BoundFacts,
  type TextModel,
  type TextOffer,
  type TextProtocol,
} from "../catalog/index.ts";
import type { CallFacts, Route } from "../protocols/index.ts";

/** An offer that may serve the call, with the limits of its model. */
interface Offered {
  readonly offer: TextOffer;
  readonly limits: TextModel;
  route(): Pick<Route, "askedOutputTokens">;
}

/** The request in the caller's protocol, to name fields in errors. */
interface CallerBody {
  readonly protocol: TextProtocol;
  readonly body: WireObject;
}

/**
 * The upper bound at the most expensive candidate model, in nano-USD. @throws GatewayError `invalid_value` above the most that any
 * call may cost
 */
export function boundOf(
  candidates: readonly Offered[],
  facts: CallFacts,
  inputTokens: number,
  { protocol, body }: CallerBody,
): bigint {
  // A conversion may ask for more output tokens than the caller did, to leave room for reasoning.
  const sent =
    facts.maxOutputTokens === undefined ? 0 : (candidates[0]!.route().askedOutputTokens ?? 0);
  const outputTokens = (model: TextModel): number =>
    Math.max(reservedOutput(model, facts.maxOutputTokens), Math.min(sent, model.maxOutputTokens));
  const { answers, toolUses, imageTool, hourWrites } = facts;
  const isText = facts.inputMedia === 0;
  const asked = { inputTokens, answers, toolUses, imageTool, hourWrites, isText };
  const most = (less: Partial<BoundFacts> = {}): bigint =>
    dearest(candidates, (model) => ({ ...asked, maxOutputTokens: outputTokens(model), ...less }));
  const bound = most();
  checkBound(bound, () => [
    { field: spellingOf("n", protocol, body), leastNano: () => most({ answers: 1 }) },
    {
      field: spellingOf("max_tokens", protocol, body),
      leastNano: () => most({ maxOutputTokens: 1 }),
    },
  ]);
  return bound;
}

function dearest(
  candidates: readonly Offered[],
  factsOf: (model: TextModel) => BoundFacts,
): bigint {
  let bound = 0n;
  for (const model of new Set(candidates.map(({ limits }) => limits))) {
    const offers = candidates.filter(({ limits }) => limits === model).map(({ offer }) => offer);
    bound = larger(bound, upperBound(model, offers, factsOf(model)));
  }
  return bound;
}

/** The output tokens to reserve. A request for more than the model can produce is refused upstream, or produces no more. */
export const reservedOutput = (model: TextModel, asked: number | undefined): number =>
  Math.min(asked ?? model.reserveOutputTokens, model.maxOutputTokens);
