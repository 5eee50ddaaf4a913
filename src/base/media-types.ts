/** Media types as they are registered: clients also write `image/jpg`, which some vendors refuse. */

/** The registered spelling of a media type; any other type as it is. */
export const registeredType = (mediaType: string): string =>
  mediaType.toLowerCase() === "image/jpg" ? "image/jpeg" : mediaType;

const unregistered = "data:image/jpg";

/** The same for the type within a `data:` URL; any other text as it is. */
export const registeredDataUrl = (url: string): string =>
  url.slice(0, unregistered.length).toLowerCase() === unregistered &&
  /^[;,]/.test(url[unregistered.length] ?? "")
    ? `data:image/jpeg${url.slice(unregistered.length)}`
    : url;
