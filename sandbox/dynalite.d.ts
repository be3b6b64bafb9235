declare module 'dynalite' {
  import type { Server } from 'node:http'

  /** A DynamoDB server that is not yet listening; in memory unless given a path. Times in milliseconds. */
  function dynalite(options?: { path?: string; createTableMs?: number }): Server
  export = dynalite
}

declare module 'dynalite/db/index.js' {
  /** The size of an item as DynamoDB counts it, each character of a text as one byte. */
  export function itemSize(item: object): number
}
