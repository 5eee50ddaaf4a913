/** The routes of images, tasks, videos and produced files. */
export { registerAliasRoutes } from "./alias-routes.ts";
export { registerFiles } from "./file-routes.ts";
export { registerImageRoutes } from "./image-routes.ts";
export { registerTaskRoutes } from "./task-routes.ts";
export { registerVideoRoutes } from "./video-routes.ts";
