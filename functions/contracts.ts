import type { EndpointContract, JobContract, QueueContract } from '../lib/frame/contract.ts'
import { contract as credentialsAdd } from './accounts/credentials-add/contract.ts'
import { contract as credentialsInit } from './accounts/credentials-init/contract.ts'
import { contract as credentialsList } from './accounts/credentials-list/contract.ts'
import { contract as credentialsRemove } from './accounts/credentials-remove/contract.ts'
import { contract as login } from './accounts/login/contract.ts'
import { contract as loginInit } from './accounts/login-init/contract.ts'
import { contract as logout } from './accounts/logout/contract.ts'
import { contract as recover } from './accounts/recover/contract.ts'
import { contract as recoverInit } from './accounts/recover-init/contract.ts'
import { contract as register } from './accounts/register/contract.ts'
import { contract as registerInit } from './accounts/register-init/contract.ts'
import { contract as sessionsEnd } from './accounts/sessions-end/contract.ts'
import { contract as sessionsEndOthers } from './accounts/sessions-end-others/contract.ts'
import { contract as sessionsList } from './accounts/sessions-list/contract.ts'
import { contract as userDelete } from './accounts/user-delete/contract.ts'
import { contract as walletsInit } from './accounts/wallets-init/contract.ts'
import { contract as walletsLink } from './accounts/wallets-link/contract.ts'
import { contract as walletsList } from './accounts/wallets-list/contract.ts'
import { contract as walletsUnlink } from './accounts/wallets-unlink/contract.ts'
import { contract as userDeposits } from './activity/deposits/contract.ts'
import { contract as userPosition } from './activity/position/contract.ts'
import { contract as userPositions } from './activity/positions/contract.ts'
import { contract as userRewards } from './activity/rewards/contract.ts'
import { contract as userWithdrawals } from './activity/withdrawals/contract.ts'
import { contract as refreshChain } from './jobs/refresh-chain/contract.ts'
import { contract as refreshMarket } from './jobs/refresh-market/contract.ts'
import { contract as refreshRewards } from './jobs/refresh-rewards/contract.ts'
import { contract as refreshTokens } from './jobs/refresh-tokens/contract.ts'
import { contract as marketCoin } from './markets/coin/contract.ts'
import { contract as marketCoins } from './markets/coins/contract.ts'
import { contract as marketSearch } from './markets/search/contract.ts'
import { contract as topGainersLosers } from './markets/top-gainers-losers/contract.ts'
import { contract as allBalances } from './portfolio/all-balances/contract.ts'
import { contract as nfts } from './portfolio/nfts/contract.ts'
import { contract as tokenChartByAddress } from './portfolio/token-chart-by-address/contract.ts'
import { contract as tokenChartById } from './portfolio/token-chart-by-id/contract.ts'
import { contract as deliverEvents } from './queues/deliver-events/contract.ts'
import { contract as refreshShard } from './queues/refresh-shard/contract.ts'
import { contract as appleAppSiteAssociation } from './system/apple-app-site-association/contract.ts'
import { contract as assetlinks } from './system/assetlinks/contract.ts'
import { contract as health } from './system/health/contract.ts'
import { contract as jwks } from './system/jwks/contract.ts'
import { contract as openapi } from './system/openapi/contract.ts'
import { contract as unknownRoute } from './system/unknown-route/contract.ts'
import { contract as cancel } from './vaults/cancel/contract.ts'
import { contract as claim } from './vaults/claim/contract.ts'
import { contract as claimRewards } from './vaults/claim-rewards/contract.ts'
import { contract as crossChainStatus } from './vaults/cross-chain-status/contract.ts'
import { contract as deposit } from './vaults/deposit/contract.ts'
import { contract as depositStatus } from './vaults/deposit-status/contract.ts'
import { contract as history } from './vaults/history/contract.ts'
import { contract as list } from './vaults/list/contract.ts'
import { contract as vaultsVault } from './vaults/vault/contract.ts'
import { contract as withdraw } from './vaults/withdraw/contract.ts'
import { contract as withdrawStatus } from './vaults/withdraw-status/contract.ts'
import { contract as webhooksEvents } from './webhooks/events/contract.ts'
import { contract as webhooksList } from './webhooks/list/contract.ts'
import { contract as webhooksRegister } from './webhooks/register/contract.ts'
import { contract as webhooksRemove } from './webhooks/remove/contract.ts'
import { contract as webhooksSecret } from './webhooks/secret/contract.ts'
import { contract as webhookTest } from './webhooks/test/contract.ts'

/** Contract of every HTTP endpoint, by its folder in `functions/`. */
export const endpoints = {
  'accounts/register-init': registerInit,
  'accounts/register': register,
  'accounts/recover-init': recoverInit,
  'accounts/recover': recover,
  'accounts/login-init': loginInit,
  'accounts/login': login,
  'accounts/logout': logout,
  'accounts/credentials-list': credentialsList,
  'accounts/credentials-init': credentialsInit,
  'accounts/credentials-add': credentialsAdd,
  'accounts/credentials-remove': credentialsRemove,
  'accounts/sessions-list': sessionsList,
  'accounts/sessions-end': sessionsEnd,
  'accounts/sessions-end-others': sessionsEndOthers,
  'accounts/user-delete': userDelete,
  'accounts/wallets-init': walletsInit,
  'accounts/wallets-link': walletsLink,
  'accounts/wallets-list': walletsList,
  'accounts/wallets-unlink': walletsUnlink,
  'vaults/list': list,
  'vaults/vault': vaultsVault,
  'vaults/history': history,
  'vaults/deposit': deposit,
  'vaults/withdraw': withdraw,
  'vaults/claim': claim,
  'vaults/claim-rewards': claimRewards,
  'vaults/cancel': cancel,
  'vaults/deposit-status': depositStatus,
  'vaults/withdraw-status': withdrawStatus,
  'vaults/cross-chain-status': crossChainStatus,
  'activity/positions': userPositions,
  'activity/position': userPosition,
  'activity/deposits': userDeposits,
  'activity/withdrawals': userWithdrawals,
  'activity/rewards': userRewards,
  'portfolio/all-balances': allBalances,
  'portfolio/nfts': nfts,
  'portfolio/token-chart-by-id': tokenChartById,
  'portfolio/token-chart-by-address': tokenChartByAddress,
  'markets/coins': marketCoins,
  'markets/top-gainers-losers': topGainersLosers,
  'markets/coin': marketCoin,
  'markets/search': marketSearch,
  'webhooks/register': webhooksRegister,
  'webhooks/list': webhooksList,
  'webhooks/secret': webhooksSecret,
  'webhooks/test': webhookTest,
  'webhooks/remove': webhooksRemove,
  'webhooks/events': webhooksEvents,
  'system/health': health,
  'system/openapi': openapi,
  'system/apple-app-site-association': appleAppSiteAssociation,
  'system/assetlinks': assetlinks,
  'system/jwks': jwks,
  'system/unknown-route': unknownRoute,
} as const satisfies Record<string, EndpointContract>

/** Contract of every scheduled job, by its folder in `functions/`. */
export const jobs = {
  'jobs/refresh-chain': refreshChain,
  'jobs/refresh-tokens': refreshTokens,
  'jobs/refresh-market': refreshMarket,
  'jobs/refresh-rewards': refreshRewards,
} as const satisfies Record<string, JobContract>

/** Contract of every queue consumer, by its folder in `functions/`. */
export const consumers = {
  'queues/deliver-events': deliverEvents,
  'queues/refresh-shard': refreshShard,
} as const satisfies Record<string, QueueContract>
