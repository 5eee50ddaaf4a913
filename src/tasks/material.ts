/**
 * Keeps pictures inside a request (`data:` URLs), which may be tens of megabytes, in the file
 * store, like uploads, so that no row, poll or reader carries them. Small ones stay in the request. T86.
 */
import { GatewayError } from "../base/errors.ts";
import { inputDrafts, type FileDrafts } from "../files/index.ts";
import type { KeptFile, Material, MediaRequest } from "../media/index.ts";
import type { TaskServices } from "./engine.ts";

/** Longest `data:` URL that stays in the request, in characters. */
const inlineMax = 16_384;
/** Largest stored request, without the pictures that were moved. */
const requestBytesMax = 1_048_576;

export interface KeptMaterial {
  /** The request with file names in place of large pictures. */
  readonly request: MediaRequest;
  /** The files; the caller must assign them to the task, or discard them if there is none. */
  readonly drafts: FileDrafts;
}

/** Moves large pictures of a request to the file store. @throws GatewayError `request_too_large` */
export async function keepMaterial(
  services: TaskServices,
  workspaceId: string,
  request: MediaRequest,
): Promise<KeptMaterial> {
  const drafts = inputDrafts(services, workspaceId);
  const keep = async (material: Material): Promise<Material> => {
    if (typeof material !== "string" || material.length <= inlineMax) return material;
    const [, mediaType] = /^data:(image\/[a-z0-9.+-]+);base64,/i.exec(material) ?? [];
    if (mediaType === undefined) return material;
    const source = Buffer.from(material.slice(material.indexOf(",") + 1), "base64");
    const { name, bytes } = await drafts.put({ purpose: "input", mediaType, source });
    return { name, mediaType, bytes };
  };
  try {
    const slim = request.kind === "video" ? await mapMaterial(request, keep) : request;
    checkSize(slim);
    return { drafts, request: slim };
  } catch (error) {
    await drafts.discard();
    throw error;
  }
}

type VideoRequest = Extract<MediaRequest, { kind: "video" }>;

/** Applies `change` to each piece of a request's material, one after another. */
async function mapMaterial(
  request: VideoRequest,
  change: (material: Material) => Promise<Material>,
): Promise<VideoRequest> {
  const { firstFrame, lastFrame } = request;
  const references: (string | KeptFile)[] = [];
  for (const reference of request.references) references.push(await change(reference));
  return {
    ...request,
    references,
    ...(firstFrame !== undefined && { firstFrame: await change(firstFrame) }),
    ...(lastFrame !== undefined && { lastFrame: await change(lastFrame) }),
  };
}

function checkSize(request: MediaRequest): void {
  if (Buffer.byteLength(JSON.stringify(request)) <= requestBytesMax) return;
  const message = "The text of the request is larger than 1 MiB; pictures do not count.";
  throw new GatewayError("request_too_large", message, { shouldRetry: false });
}
