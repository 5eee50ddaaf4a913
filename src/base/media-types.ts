/** Registered media types: clients also write `image/jpg`, which some vendors refuse. */

/** Returns the registered spelling of a media type; any other type unchanged. */
export const registeredType = (mediaType: string): string =>
  mediaType.toLowerCase() === "image/jpg" ? "image/jpeg" : mediaType;

/** Returns a media type without its parameters. Uses `split` and no regular expression: a caller may send megabytes of semicolons. */
export const bareType = (mediaType: string): string => mediaType.split(";", 1)[0]!;

const unregistered = "data:image/jpg";

/** The same for the type within a `data:` URL; returns any other text unchanged. */
export const registeredDataUrl = (url: string): string =>
  url.slice(0, unregistered.length).toLowerCase() === unregistered &&
  /^[;,]/.test(url[unregistered.length] ?? "")
    ? `data:image/jpeg${url.slice(unregistered.length)}`
    : url;
