-- What prediction learns from, and the models it makes.

ALTER TABLE records ADD COLUMN activations metric;

ALTER TABLE prediction_models ADD COLUMN version INTEGER; -- of the way to predict
ALTER TABLE prediction_models ADD COLUMN fingerprint TEXT; -- of the results it was made from
ALTER TABLE prediction_models ADD COLUMN cells INTEGER; -- how many they were
