declare module 'dynalite' {
  import type { Server } from 'node:http'

  /** A DynamoDB server that is not yet listening; in memory unless given a path. Times in milliseconds. */
  function dynalite(options?: { path?: string; createTableMs?: number }): Server
  export = dynalite
}

declare module 'dynalite/db/index.js' {
  /** What dynalite's actions call, through this object. */
  const db: {
    /** The size of an item in bytes, each character of a text as one. */
    itemSize: (item: object) => number
    /** It, once another has its place. */
    sizeInCharacters?: (item: object) => number
  }
  export = db
}
