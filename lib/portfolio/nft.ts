import * as z from 'zod'
import { ChainKey } from '../chain/registry.ts'
import { Amount, Timestamp } from '../core/codecs.ts'

const Attribute = z.object({
  trait_type: z.string().describe('Name of the trait'),
  value: z.string().describe('Value of the trait'),
})

/** One NFT of a collection. A null value is unknown. */
const Nft = z.object({
  token_id: z.string().describe("The token's number, or the asset's address on Solana"),
  token_url: z.string().nullable().describe('URL of its metadata'),
  original_owner: z.string().nullable().describe('First owner'),
  current_owner: z.string().describe('Wallet that holds it'),
  external_data: z
    .object({
      name: z.string().nullable().describe('Name given by its maker'),
      description: z.string().nullable().describe('Description by its maker'),
      image: z.string().nullable().describe('Picture'),
      image_256: z.string().nullable().describe('Picture, 256 pixels wide'),
      image_512: z.string().nullable().describe('Picture, 512 pixels wide'),
      image_1024: z.string().nullable().describe('Picture, 1024 pixels wide'),
      animation_url: z.string().nullable().describe('Video, sound or page'),
      external_url: z.string().nullable().describe('Web page of the NFT'),
      attributes: z.array(Attribute).describe('Traits'),
    })
    .nullable()
    .describe('Metadata from its maker'),
})

/** NFTs of one collection that a wallet has, in API responses. A null value is unknown. */
export const NftCollection = z
  .object({
    contract_address: z
      .string()
      .describe('Address of the collection, else of the asset; EIP-55 checksum, or base58 on Solana'),
    contract_name: z.string().describe('Name from the collection; may be empty'),
    contract_ticker_symbol: z.string().describe('Symbol from the collection; may be empty'),
    supports_erc: z.array(z.string()).describe('erc721, erc1155; metaplex on Solana'),
    chainName: z.string().describe('Chain key'),
    is_spam: z.boolean().describe('True if it looks like spam'),
    balance: Amount.describe('Number of NFTs; nft_data can list fewer'),
    type: z.literal('nft'),
    last_transfered_at: z.string().nullable().describe('Time of the last transfer in or out'),
    floor_price_quote: z.number().nullable().describe('Floor price in US dollars'),
    floor_price_native_quote: z.number().nullable().describe("Floor price in the chain's coin"),
    nft_data: z.array(Nft).describe('NFTs with details'),
  })
  .meta({ id: 'NftCollection', description: "A user's NFTs of one collection; null means unknown" })
export type NftCollection = z.output<typeof NftCollection>

const MAX_NAME = 200
const MAX_DESCRIPTION = 2_000
const MAX_URL = 4_096
const MAX_ATTRIBUTES = 50

const word = z.union([z.string(), z.number(), z.boolean()]).transform((value) => value.toString().slice(0, MAX_NAME))
/** URL in NFT data. Only URLs that wallets can open are accepted; other and too long texts become null. */
const url = z
  .string()
  .max(MAX_URL)
  .regex(/^(https?|ipfs|ar|data):/i)
  .nullable()
  .catch(null)

/** Schemas of texts in NFT data, which third parties wrote. Long texts are cut, and invalid texts become null. */
export const NftText = {
  name: z
    .string()
    .transform((value) => value.slice(0, MAX_NAME))
    .nullable()
    .catch(null),
  description: z
    .string()
    .transform((value) => value.slice(0, MAX_DESCRIPTION))
    .nullable()
    .catch(null),
  url,
  attributes: z
    .array(z.object({ trait_type: word, value: word }).nullable().catch(null))
    .transform((attributes) => attributes.filter((attribute) => attribute !== null).slice(0, MAX_ATTRIBUTES))
    .catch([]),
}

/** Maximum number of NFTs of one chain in a table item or a response. Lambda returns at most 6 MB. */
const MAX_NFTS = 500
const MAX_BYTES = 350_000

/** NFTs of one wallet on one chain. `isWhole` is false if some NFTs are missing. */
const OwnedNfts = z.object({ collections: z.array(NftCollection), isWhole: z.boolean() })
export type OwnedNfts = z.output<typeof OwnedNfts>

/** NFTs of one wallet by chain. `asOf` is the time at which the chain's NFTs were read. */
export const WalletNfts = z.partialRecord(ChainKey, OwnedNfts.extend({ asOf: Timestamp }))
export type WalletNfts = z.output<typeof WalletNfts>

/** Returns as many NFTs of a wallet as fit into one table item. Each chain that has NFTs gets an equal part of the item's size. */
export function fitNftsIntoItem(nfts: WalletNfts): WalletNfts {
  const chains = Object.values(nfts).filter(({ collections }) => collections.length > 0).length
  return Object.fromEntries(
    Object.entries(nfts).map(([chainKey, { asOf, isWhole, collections }]) => {
      const fits = fitNfts(collections, MAX_BYTES / Math.max(1, chains))
      return [chainKey, { asOf, ...fits, isWhole: isWhole && fits.isWhole }]
    }),
  )
}

/** Returns as many NFTs as fit into `bytes`. Spam comes last, so it is omitted first. */
export function fitNfts(collections: readonly NftCollection[], bytes = MAX_BYTES): OwnedNfts {
  let left = bytes
  let count = MAX_NFTS
  const take = (value: unknown) => {
    left -= Buffer.byteLength(JSON.stringify(value))
    count -= 1
    return left >= 0 && count >= 0
  }
  const ordered = collections.toSorted((one, other) => Number(one.is_spam) - Number(other.is_spam))
  const taken = ordered.flatMap(({ nft_data, ...collection }) => {
    // `take` also counts the collection as an NFT, but only its NFTs count towards MAX_NFTS. So `count` is corrected
    // below.
    const fits = take(NftCollection.omit({ nft_data: true }).encode(collection))
    count += 1
    return fits ? [{ ...collection, nft_data: nft_data.filter(take) }] : []
  })
  return { collections: taken, isWhole: left >= 0 && count >= 0 }
}
