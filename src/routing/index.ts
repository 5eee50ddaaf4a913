/** Routing's door: a model id and a scope in, offers in order out. Design section 7. */
export { parseModelId, type ParsedModelId, type Strategy } from "./model-id.ts";
export {
  isMediaModel,
  modelsFor,
  openScope,
  type CallableModel,
  type RoutingScope,
} from "./scope.ts";
export {
  mediaModel,
  planMedia,
  type MediaExplanation,
  type MediaPlan,
  type MediaPlanInput,
} from "./plan-media.ts";
export { plan, type Explanation, type Plan, type PlanInput } from "./plan.ts";
