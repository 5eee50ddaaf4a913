/** The one stored task in the shapes in which it can be read: pure functions of it. Spec: "Renderings of the same task"; STORE-04. */
export { renderArk, type ArkTask } from "./ark.ts";
export { renderDashscope, type DashscopeTask } from "./dashscope.ts";
export { renderNative, type NativeVideo } from "./native.ts";
export { renderUnified, type FileUrl, type UnifiedTask } from "./unified.ts";
