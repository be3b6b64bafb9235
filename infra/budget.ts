import { CfnBudget } from 'aws-cdk-lib/aws-budgets'
import type { Construct } from 'constructs'

type Settings = { readonly name: string; readonly monthlyUsd: number; readonly email: string }

/**
 * Adds a budget of the whole AWS account (docs/runbooks/budget.md). AWS sends an e-mail when 80 % of the budget are spent, and when it
 * forecasts more than 100 %. The budget has no filter by tags: such a filter counts nothing until somebody activates the tags.
 */
export function addBudget(scope: Construct, { name, monthlyUsd, email }: Settings): void {
  const mailAt = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
    notification: { notificationType, comparisonOperator: 'GREATER_THAN', threshold, thresholdType: 'PERCENTAGE' },
    subscribers: [{ subscriptionType: 'EMAIL', address: email }],
  })
  new CfnBudget(scope, 'Budget', {
    budget: {
      budgetName: name,
      budgetType: 'COST',
      timeUnit: 'MONTHLY',
      budgetLimit: { amount: monthlyUsd, unit: 'USD' },
    },
    notificationsWithSubscribers: [mailAt('ACTUAL', 80), mailAt('FORECASTED', 100)],
  })
}
