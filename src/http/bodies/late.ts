/** Bodies that come to their end after their client got the last answer of the connection, such as 408. */

/** Connections that got their last answer and only wait for their end. */
export const lingering = new WeakSet<object>();

/** True for such a body: its call must not be made, because the client will send it again. */
export const isLate = ({ socket }: { readonly socket?: object }): boolean =>
  socket !== undefined && lingering.has(socket);
