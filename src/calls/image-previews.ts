/** The events of a streamed image answer. IMG-28, EDIT2-26, EDIT2-27. */
import type { ImageEvent, StreamedAnswer } from "../upstream/index.ts";
import type { Backpressure } from "./backpressure.ts";
import type { ImageContext } from "./image-context.ts";
import { pictureOf, renderedAs } from "./image-pictures.ts";
import { recordFirstToken } from "./record.ts";

/** The prefix of the call's event names. */
export const eventPrefix = ({ request }: ImageContext): string =>
  request.images.length > 0 ? "image_edit" : "image_generation";

/** The stream that previews come from, and how long its client has held it back. */
export interface PreviewSource {
  readonly stream: StreamedAnswer["stream"];
  readonly held: Backpressure;
}

/** Sends a preview, and waits until the client has read it or left, or the source stream has ended. */
export async function sendPreview(
  context: ImageContext,
  { base64, index, rendered }: Extract<ImageEvent, { type: "partial" }>,
  { stream, held }: PreviewSource,
): Promise<void> {
  const { services, reply, record, request } = context;
  const now = services.clock.now();
  const type = `${eventPrefix(context)}.partial_image`;
  const event = {
    type,
    b64_json: base64,
    created_at: Math.floor(now / 1000),
    ...renderedAs(request, rendered, pictureOf(base64)),
    partial_image_index: index,
  };
  if (record.firstTokenMs === null) recordFirstToken(record);
  const taken = reply.write([{ event: type, data: JSON.stringify(event) }]);
  if (taken || reply.gone) return;
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
}
