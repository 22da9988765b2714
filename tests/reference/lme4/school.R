# The random-intercept model of lme4, restricted maximum likelihood: Rscript school.R DATA.csv
# Columns have mean 0 and deviation 1 over all rows; lme4 leaves out those that are linear in
# others, as src/train/mixed.c does. The residual's deviation and the random intercept's; then
# the first three tasks' random effects, in the order of the tasks' names as numbers.
suppressMessages(library(lme4))
d <- read.csv(commandArgs(TRUE)[1])
columns <- setdiff(names(d), c("task", "y"))
for (k in columns) d[[k]] <- as.numeric(scale(d[[k]]))
d$task <- factor(d$task)
fixed <- paste("y ~", paste(columns, collapse = " + "))
fit <- suppressMessages(lmer(as.formula(paste(fixed, "+ (1 | task)")), d))
effects <- ranef(fit)$task
effects <- effects[order(as.numeric(gsub("[^0-9]", "", rownames(effects)))), 1]
cat("residual,intercept\n")
cat(sprintf("%.8f,%.8f\n", sigma(fit), attr(VarCorr(fit)[[1]], "stddev")[1]))
cat(sprintf("%.8f,%.8f\n%.8f,0\n", effects[1], effects[2], effects[3]))
