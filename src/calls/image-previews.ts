/** The events of a streamed image answer. IMG-28, EDIT2-26, EDIT2-27. */
import { readProducedPicture } from "../base/image-header.ts";
import type { ImageEvent, StreamedAnswer } from "../upstream/index.ts";
import type { Backpressure } from "./backpressure.ts";
import type { ImageContext } from "./image-context.ts";
import { renderedAs } from "./image-pictures.ts";
import { recordFirstToken } from "./record.ts";

/** The prefix of the call's event names. */
export const eventPrefix = ({ request }: ImageContext): string =>
  request.images.length > 0 ? "image_edit" : "image_generation";

/** The stream that previews come from, and how long its client has held it back. */
export interface PreviewSource {
  readonly stream: StreamedAnswer["stream"];
  readonly held: Backpressure;
}

/**
 * Sends a preview, and waits until the client has read it or left, or the source stream has ended. False if it is no picture: it is left
 * out, because the vendor still makes, and bills, the picture that was asked for.
 */
export async function sendPreview(
  context: ImageContext,
  { base64, index, rendered }: Extract<ImageEvent, { type: "partial" }>,
  { stream, held }: PreviewSource,
): Promise<boolean> {
  const header = readProducedPicture(base64);
  if (typeof header === "string") return false;
  const { services, reply, record, request } = context;
  const now = services.clock.now();
  const type = `${eventPrefix(context)}.partial_image`;
  const event = {
    type,
    b64_json: base64,
    created_at: Math.floor(now / 1000),
    ...renderedAs(request, rendered, { base64, header }),
    partial_image_index: index,
  };
  if (record.firstTokenMs === null) recordFirstToken(record);
  const taken = reply.write([{ event: type, data: JSON.stringify(event) }]);
  if (taken || reply.gone) return true;
  // A slow client holds back the vendor, which does not wait forever.
  held.begin();
  await new Promise<void>((resolve) => {
    reply.onDrain(() => {
      held.end();
      resolve();
    });
    reply.onGone(resolve);
    if (stream.destroyed) resolve();
    else stream.once("close", resolve);
  });
  return true;
}
