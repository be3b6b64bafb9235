import { useQuery } from '@tanstack/react-query'
import { listNFTs, type NftCollection } from '@vaultline/client'
import { queryAnswer } from '@vaultline/client/query'
import { useService } from '../context.ts'
import { isSameFailure } from '../problems.ts'
import type { Portfolio } from '../use-portfolio.ts'
import { ProblemNotice } from './notices.tsx'
import { StaleSince } from './stale-since.tsx'
import { Picture } from './tokens.tsx'

const SHOWN = 8

/** Shows the NFTs in the linked wallets as small pictures; renders nothing if there are none. */
export function Nfts({ portfolio: { balances, positionProblem } }: { portfolio: Portfolio }) {
  const nfts = useQuery(queryAnswer(listNFTs, useService(), undefined))
  if (nfts.error && !nfts.data) {
    if ([positionProblem, balances.error].some((shown) => isSameFailure(nfts.error, shown))) return null
    return <ProblemNotice error={nfts.error} onRetry={() => void nfts.refetch()} />
  }
  const all = Object.entries(nfts.data?.data.nfts ?? {}).flatMap(([chain, collections]) =>
    collections
      .filter(({ is_spam }) => !is_spam)
      .flatMap((collection) => collection.nft_data.map((nft) => ({ chain, collection, nft }))),
  )
  if (all.length === 0) return null
  return (
    <section className="card" aria-labelledby="nfts">
      <div className="card-head">
        <h2 id="nfts">Collectibles</h2>
        <StaleSince query={nfts} />
      </div>
      <ul className="pictures">
        {all.slice(0, SHOWN).map(({ chain, collection, nft }) => (
          <li key={`${chain} ${collection.contract_address} ${nft.token_id}`}>
            <Collectible collection={collection} nft={nft} />
          </li>
        ))}
      </ul>
      {all.length > SHOWN && <p className="fine">And {all.length - SHOWN} more.</p>}
    </section>
  )
}

type CollectibleProps = { readonly collection: NftCollection; readonly nft: NftCollection['nft_data'][number] }

function Collectible({ collection: { contract_name }, nft: { token_id, external_data } }: CollectibleProps) {
  const url = external_data?.image_256 ?? external_data?.image
  return (
    <figure>
      <Picture url={url} className="picture" size={72} otherwise={<span className="picture" aria-hidden="true" />} />
      <figcaption className="fine">{external_data?.name ?? `${contract_name} #${token_id}`}</figcaption>
    </figure>
  )
}
