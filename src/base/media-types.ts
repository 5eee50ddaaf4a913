/** Media types as they are registered: clients also write `image/jpg`, which some vendors refuse. */

/** The registered spelling of a media type; any other type as it is. */
export const registeredType = (mediaType: string): string =>
  mediaType.toLowerCase() === "image/jpg" ? "image/jpeg" : mediaType;

/** A media type without its parameters. Cut and not matched: a caller's may be megabytes of semicolons. */
export const bareType = (mediaType: string): string => mediaType.split(";", 1)[0]!;

const unregistered = "data:image/jpg";

/** The same for the type within a `data:` URL; any other text as it is. */
export const registeredDataUrl = (url: string): string =>
  url.slice(0, unregistered.length).toLowerCase() === unregistered &&
  /^[;,]/.test(url[unregistered.length] ?? "")
    ? `data:image/jpeg${url.slice(unregistered.length)}`
    : url;
