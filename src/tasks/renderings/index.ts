/** The one stored task in the shapes in which it can be read: pure functions of it. STORE-04. */
export { renderArk } from "./ark.ts";
export { renderDashscope } from "./dashscope.ts";
export { renderNative } from "./native.ts";
export { renderParameters } from "./parameters.ts";
export { renderUnified, type FileUrl } from "./unified.ts";
