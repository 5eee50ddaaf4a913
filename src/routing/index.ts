/** Public exports of routing: from a model id and a scope to ordered offers, and the health of providers. docs/routing.md. */
export {
  defaultHealthRules,
  Health,
  type HealthAttempt,
  type HealthRules,
  type ServedModel,
  type Unanswered,
} from "./health.ts";
export { HealthPeers, type HealthChange, type HealthRow, type PeerLink } from "./peers.ts";
export { endedHere, hourOf, noAttempts, refusedRequest, type LastHour } from "./last-hour.ts";
export type { MeasuredCall } from "./speed.ts";
export { parseModelId, resolveModelId, type ParsedModelId } from "./model-id.ts";
export {
  allPaused,
  isMediaModel,
  modelsFor,
  openScope,
  permits,
  type CallableModel,
  type Constraints,
  type RoutingScope,
} from "./scope.ts";
export { meantModel } from "./unknown-model.ts";
export { mediaModel, planMedia, type MediaPlan, type MediaPlanInput } from "./plan-media.ts";
export { plan, type Plan, type PlanInput } from "./plan.ts";
export { previewPlan } from "./preview.ts";
export { standardPrice } from "./order.ts";
